import theme from 'vitepress/theme';
import './home.css';
import './tables.css';

export default theme;
